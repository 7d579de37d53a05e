import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { Field } from './field.tsx';
import { NumberField } from './number-field.tsx';

function show(first: number | null = 5) {
  const onChange = vi.fn<(value: number | null) => void>();
  function Form() {
    const [value, setValue] = useState(first);
    return (
      <Field label="Steps" error={value === null ? 'Steps is required' : undefined}>
        <NumberField
          value={value}
          onChange={(next) => {
            setValue(next);
            onChange(next);
          }}
          min={1}
          max={9}
          step={0.5}
          maxDecimals={2}
        />
      </Field>
    );
  }
  render(<Form />);
  return { onChange, input: screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Steps' }) };
}

test('exposes its value and bounds', async () => {
  const { input } = show();
  const exposed = () => ['now', 'min', 'max'].map((name) => input.getAttribute(`aria-value${name}`));
  expect(exposed()).toEqual(['5', '1', '9']);
  await userEvent.clear(input);
  expect(exposed()).toEqual([null, '1', '9']);
});

test('typed text stays unchanged until blur, even out of bounds', async () => {
  const { onChange, input } = show();
  await userEvent.clear(input);
  expect(onChange).toHaveBeenLastCalledWith(null);
  expect(input.getAttribute('aria-invalid')).toBe('true');
  await userEvent.type(input, '12.x50');
  expect(input.value).toBe('12.50');
  expect(onChange).toHaveBeenLastCalledWith(12.5);
  await userEvent.tab();
  expect(input.value).toBe('12.5');
});

test('unreadable text clears the number instead of keeping the previous one', async () => {
  const { onChange, input } = show();
  await userEvent.clear(input);
  await userEvent.type(input, '2,5');
  expect(input.value).toBe('2,5');
  expect(onChange).toHaveBeenLastCalledWith(null);
  expect(input.getAttribute('aria-invalid')).toBe('true');
});

test('arrow keys step by one, by ten with Shift, and Home and End jump to the bounds', async () => {
  const { input } = show();
  await userEvent.type(input, '{ArrowUp}');
  expect(input.value).toBe('5.5');
  await userEvent.type(input, '{Shift>}{ArrowDown}{/Shift}');
  expect(input.value).toBe('1');
  await userEvent.type(input, '{End}');
  expect(input.value).toBe('9');
  await userEvent.type(input, '{Home}');
  expect(input.value).toBe('1');
});

test('a button steps once per click and repeats while held, up to the bound', async () => {
  vi.useFakeTimers();
  try {
    const { input } = show();
    const increase = screen.getByRole<HTMLButtonElement>('button', { name: 'Increase' });
    fireEvent.pointerDown(increase, { button: 0 });
    fireEvent.pointerUp(increase);
    fireEvent.click(increase);
    await act(() => vi.advanceTimersByTimeAsync(5_000));
    expect(input.value).toBe('5.5');
    fireEvent.pointerDown(increase, { button: 0 });
    await act(() => vi.advanceTimersByTimeAsync(500));
    fireEvent.pointerUp(increase);
    fireEvent.click(increase);
    const held = Number(input.value);
    expect(held).toBeGreaterThan(5.5);
    expect(held).toBeLessThan(9);
    fireEvent.pointerDown(increase, { button: 0 });
    // Render each step before the next.
    for (let pass = 0; pass < 20; pass += 1) await act(() => vi.advanceTimersByTimeAsync(100));
    expect(input.value).toBe('9');
    expect(increase.disabled).toBe(true);
    // Browsers don't send pointerup to a disabled button; stepping must not resume when it is enabled again.
    const decrease = screen.getByRole<HTMLButtonElement>('button', { name: 'Decrease' });
    fireEvent.pointerDown(decrease, { button: 0 });
    fireEvent.pointerUp(decrease);
    fireEvent.click(decrease);
    for (let pass = 0; pass < 20; pass += 1) await act(() => vi.advanceTimersByTimeAsync(100));
    expect(input.value).toBe('8.5');
    expect(increase.disabled).toBe(false);
    fireEvent.click(increase);
    expect(input.value).toBe('9');
  } finally {
    vi.useRealTimers();
  }
});
