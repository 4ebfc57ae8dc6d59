package story

import "context"

// Scene is one scene of the story.
type Scene struct {
	Name string // for a test's name
	Play func(context.Context, *World) Result
}

// Scenes returns the story in its order.
func Scenes() []Scene {
	return []Scene{
		{"FirstAndRetry", FirstAndRetry},
		{"ConcurrentDuplicates", ConcurrentDuplicates},
		{"ChangedBody", ChangedBody},
		{"RefusedKeys", RefusedKeys},
		{"OtherPrincipal", OtherPrincipal},
		{"Lookup", Lookup},
		{"IssuedKeys", IssuedKeys},
		{"IssuedKeyExpires", IssuedKeyExpires},
		{"BackendDown", BackendDown},
		{"BackendCutOff", BackendCutOff},
		{"ClientGone", ClientGone},
		{"DeadAppBehindProxy", DeadAppBehindProxy},
		{"GatewayKilled", GatewayKilled},
		{"BridgeKilled", BridgeKilled},
		{"BridgeFrozen", BridgeFrozen},
		{"BridgeAwayLocal", BridgeAwayLocal},
		{"FlashSale", FlashSale},
	}
}
