import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { ErrorState } from './error-state.tsx';

test('sets the document title only if it replaces the whole page', () => {
  document.title = 'LLM Training · Bakehouse';
  const { rerender } = render(<ErrorState title="The chart cannot be shown" error="Try later" />);
  expect(document.title).toBe('LLM Training · Bakehouse');
  rerender(<ErrorState title="This run cannot be shown" error="Try later" wholePage />);
  expect(document.title).toBe('This run cannot be shown · Bakehouse');
});
