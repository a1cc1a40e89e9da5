package faulttest

// pauseNumber is the system call in which the simulator's hang waits: there is no
// pause, the C library makes it of ppoll.
const pauseNumber = "73"
