use std::sync::atomic::AtomicBool;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let machine = alight_machine::load(&a[1]).unwrap();
    let machine = machine.machine;
    let sched = alight_policy::Scheduler::parse(&a[2]).unwrap();
    let w = alight_workload::program::Workload::load(&a[3], alight_workload::Mode::Workgen).unwrap_or_else(|e| panic!("{e}")).workload;
    let seeds: u64 = a.get(4).map_or(1, |s| s.parse().unwrap());
    for seed in 0..seeds {
        let t = std::time::Instant::now();
        let s = alight_sim::Scenario { machine: &machine, workloads: std::slice::from_ref(&w), scheduler: &sched, governor: None, seed, duration_ns: a.get(5).map(|s| s.parse::<u64>().unwrap() * 1_000_000), check: std::env::var("CHECK").is_ok() };
        match alight_sim::run(&s, None, &AtomicBool::new(false)) {
            Ok(o) => { println!("seed {seed} hash {:016x} end {} ms events {} wall {:?} = {:.1} ns/event", o.hash, o.end_ns / 1_000_000, o.events, t.elapsed(), t.elapsed().as_nanos() as f64 / o.events as f64);
                for m in o.results.iter().chain(&o.energy).chain(o.mechanism.iter()) { if seeds == 1 || o.results.contains(m) {println!("  {} {} {}", m.name, m.value, m.unit); } } 
                if seeds==1 { for (n, s) in alight_policy::STEPS.iter().zip(o.steps) { if s>0 {println!("  step {} {}", n.0, s);} } } }
            Err(e) => println!("error {e}"),
        }
    }
}
