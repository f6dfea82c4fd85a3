//! alight-live
