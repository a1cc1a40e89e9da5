package faulttest

// pauseNumber is the system call in which the simulator's hang waits: pause.
const pauseNumber = "34"
