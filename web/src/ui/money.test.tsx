import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { currencyChoice } from '../lib/format/currency.ts';
import { Money } from './money.tsx';

test('the keyboard and a tap show the exact amount of a rounded one', async () => {
  currencyChoice.set('USD');
  render(<Money bgl="0.575139" sign="−" />);
  const amount = await screen.findByRole('button', { name: '−$0.02' });
  await userEvent.tab();
  expect(document.activeElement).toBe(amount);
  await userEvent.keyboard('{Enter}');
  expect(await screen.findByText('$0.02300556 = 0.575139 BGL')).toBeTruthy();
  await userEvent.keyboard('{Escape}');
  await userEvent.click(amount);
  expect(await screen.findByText('$0.02300556 = 0.575139 BGL')).toBeTruthy();
});

test.each([
  ['an exact amount', <Money key="a" bgl="125" />],
  ['a unit price', <Money key="b" bgl="0.575139" unrounded />],
  ['an amount inside a link', <Money key="c" bgl="0.575139" plain />],
])('%s is only text', (_what, money) => {
  render(money);
  expect(screen.getByText(/^\$/)).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
});
