//! alight-trace
