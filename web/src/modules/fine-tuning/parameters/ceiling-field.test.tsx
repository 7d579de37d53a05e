import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { CeilingField } from './ceiling-field.tsx';

const changed = vi.fn<(bgl: string) => void>();

function Form() {
  const [value, setValue] = useState('');
  return (
    <CeilingField
      value={value}
      usual="12.5"
      expected="8.3333"
      onChange={(bgl) => {
        setValue(bgl);
        changed(bgl);
      }}
    />
  );
}

beforeEach(() => {
  currencyChoice.set('USD');
  changed.mockClear();
});
const field = () => screen.getByLabelText<HTMLInputElement>('Spending limit');
const type = (value: string) => fireEvent.change(field(), { target: { value } });

it('is typed in the display currency and stored exactly', () => {
  render(<Form />);
  expect(field().placeholder).toBe('$0.50');
  type('1.5');
  expect(changed).toHaveBeenLastCalledWith('37.5');
  type('$0.01');
  expect(changed).toHaveBeenLastCalledWith('0.25');
  type('much');
  expect(changed).toHaveBeenLastCalledWith('much');
  type('');
  expect(changed).toHaveBeenLastCalledWith('');
});

it('shows the amount in both currencies and what happens when it is reached', () => {
  render(<Form />);
  const help = /The most you pay\./;
  expect(screen.getByText(help).textContent).not.toMatch(/BGL/);
  type('1.5');
  expect(screen.getByText(help).textContent).toMatch(/^\$1\.50 = 37\.50 BGL\. The most you pay\. /);
});

it('rounds the default ceiling up', () => {
  render(<CeilingField value="" usual="0.75" expected="0.5" onChange={changed} />);
  expect(field().placeholder).toBe('$0.03');
  cleanup();
  render(<CeilingField value="" usual="0.58" expected="0.387" onChange={changed} />);
  expect(field().placeholder).toBe('$0.024');
});

it('warns if the ceiling is below the expected cost', () => {
  render(<Form />);
  // Three decimals, because with two the warning would be '$0.33 is less than $0.33'.
  const warning = /less than the \$0\.333 that the run is expected to cost/;
  type('0.34');
  expect(screen.queryByText(warning)).toBeNull();
  type('0.33');
  expect(screen.getByRole('status').textContent).toMatch(warning);
  type('0.34');
  expect(screen.queryByRole('status')).toBeNull();
});

it('shows the same amount after the currency changes', () => {
  render(<Form />);
  type('1.5');
  act(() => currencyChoice.set('BGL'));
  expect(field().value).toBe('37.5');
  expect(field().placeholder).toBe('12.50 BGL');
  type('25');
  expect(changed).toHaveBeenLastCalledWith('25');
  act(() => currencyChoice.set('USD'));
  expect(field().value).toBe('1');
});
