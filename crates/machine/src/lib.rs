//! alight-machine
