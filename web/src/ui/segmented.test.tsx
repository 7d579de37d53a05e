import { fireEvent, render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { Segmented } from './segmented.tsx';

const options = [
  { value: 'USD', label: 'USD' },
  { value: 'BGL', label: 'BGL' },
] as const;

it('always has exactly one choice', () => {
  const onChange = vi.fn();
  render(<Segmented label="Currency" value="USD" onChange={onChange} options={options} />);
  expect(screen.getByRole('group', { name: 'Currency' })).toBeTruthy();
  const [usd, bgl] = screen.getAllByRole('button');
  expect(usd?.getAttribute('aria-pressed')).toBe('true');
  fireEvent.click(usd as HTMLElement);
  expect(onChange).not.toHaveBeenCalled();
  fireEvent.click(bgl as HTMLElement);
  expect(onChange).toHaveBeenCalledExactlyOnceWith('BGL');
});
