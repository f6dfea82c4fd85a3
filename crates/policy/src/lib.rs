//! alight-policy
