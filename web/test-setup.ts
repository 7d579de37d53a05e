import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// A guard against hanging, like the limit of a test: nothing is true or false by the speed of the machine.
configure({ asyncUtilTimeout: 10_000 });

afterEach(cleanup);
