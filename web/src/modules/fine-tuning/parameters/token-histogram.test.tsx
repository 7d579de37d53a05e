import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { TokenHistogram } from './token-histogram.tsx';

test('both ends of a bar use the same format', () => {
  render(<TokenHistogram bins={[{ from: 1_024, to: 2_048, count: 1_200 }]} />);
  expect(screen.getByTitle('1,200 examples of 1,024 to 2,048 tokens')).toBeTruthy();
});
