// Included by much HLS code that never uses it. Half precision itself is not simulated: `half` stays undeclared.
#ifndef STC_HLS_HALF_H
#define STC_HLS_HALF_H
#endif
