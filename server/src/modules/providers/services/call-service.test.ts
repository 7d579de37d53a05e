import { expect, test } from 'vitest';
import { callMs } from './call-service.ts';

test("a call's timeout is half a minute plus the time to send its body over a slow line", () => {
  expect(callMs(undefined)).toBe(30_000);
  expect(callMs('{"prompt":"bread"}')).toBe(30_001);
  expect(callMs('x'.repeat(27_000_000))).toBeGreaterThan(120_000);
  const form = new FormData();
  form.append('content', new Blob([new Uint8Array(20_000_000)]), 'picture');
  form.append('purpose', 'edit');
  expect(callMs(form)).toBeGreaterThan(100_000);
});
