//! alight-workload
