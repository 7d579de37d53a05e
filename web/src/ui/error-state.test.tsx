import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { ErrorState } from './error-state.tsx';

test('in place of a whole page it names the tab; within one it does not', () => {
  document.title = 'LLM Training · Bakehouse';
  const { rerender } = render(<ErrorState title="The chart cannot be shown" error="Try later" />);
  expect(document.title).toBe('LLM Training · Bakehouse');
  rerender(<ErrorState title="This run cannot be shown" error="Try later" wholePage />);
  expect(document.title).toBe('This run cannot be shown · Bakehouse');
});
