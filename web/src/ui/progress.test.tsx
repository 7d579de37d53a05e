import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { Progress } from './progress.tsx';

test('exposes whole percents, and no value while it is unknown', () => {
  const { rerender } = render(<Progress label="Generating" value={(100 * 11) / 20} />);
  const value = () => screen.getByRole('progressbar').getAttribute('aria-valuenow');
  expect(value()).toBe('55');
  rerender(<Progress label="Generating" value={null} />);
  expect(value()).toBeNull();
});
