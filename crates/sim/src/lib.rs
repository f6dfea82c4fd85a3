//! alight-sim
