import { TextDecoderStream } from 'node:stream/web';
import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// A browser has it; of Node's own globals it is the one that vitest does not hand on.
Object.assign(globalThis, { TextDecoderStream });

// A guard against hanging, like the limit of a test: nothing is true or false by the speed of the machine.
configure({ asyncUtilTimeout: 10_000 });

afterEach(cleanup);
