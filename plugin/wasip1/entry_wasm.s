// This file is empty. Its presence lets entry.go declare a function whose body
// is elsewhere.
