//! alight-study
