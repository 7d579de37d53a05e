// Test files of one process share Node's BroadcastChannel: a sign-out in one would reach the tests in another thread.
Reflect.deleteProperty(globalThis, 'BroadcastChannel');
