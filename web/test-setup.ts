import { TextDecoderStream } from 'node:stream/web';
import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// A browser global of Node's that vitest doesn't expose.
Object.assign(globalThis, { TextDecoderStream });

// High, so that slow machines don't fail tests; it only catches hanging tests.
configure({ asyncUtilTimeout: 10_000 });

afterEach(cleanup);
