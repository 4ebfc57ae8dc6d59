package conformance

import "slices"

// Scenarios are all of them.
var Scenarios = slices.Concat(requestScenes, bodyScenes, responseScenes, replyScenes, calloutScenes, endScenes, grpcScenes, hostcallScenes, vmScenes)
