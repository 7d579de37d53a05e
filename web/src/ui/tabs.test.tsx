import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { Tabs } from './tabs.tsx';

function Page() {
  const [tab, setTab] = useState('kept');
  return (
    <Tabs
      value={tab}
      onChange={setTab}
      tabs={[
        { value: 'kept', label: 'Kept', content: <input aria-label="kept" />, keepMounted: true },
        { value: 'other', label: 'Other', content: <input aria-label="other" /> },
      ]}
    />
  );
}

it('a keepMounted tab stays alive while another is shown; others remount', async () => {
  render(<Page />);
  const kept = screen.getByLabelText<HTMLInputElement>('kept');
  await userEvent.type(kept, 'typed');
  await userEvent.click(screen.getByRole('tab', { name: 'Other' }));
  expect(kept.isConnected).toBe(true);
  await userEvent.type(screen.getByLabelText('other'), 'typed');
  await userEvent.click(screen.getByRole('tab', { name: 'Kept' }));
  expect(screen.getByLabelText<HTMLInputElement>('kept').value).toBe('typed');
  expect(screen.queryByLabelText('other')).toBeNull();
});

it('marks the edges at which tabs overflow', () => {
  render(<Page />);
  const list = screen.getByRole('tablist');
  const scrollTo = (scrollLeft: number) => {
    for (const [name, value] of Object.entries({ scrollLeft, scrollWidth: 500, clientWidth: 300 }))
      Object.defineProperty(list, name, { value, configurable: true });
    fireEvent.scroll(list);
    return list.dataset.hidden?.trim();
  };
  expect([0, 100, 200].map(scrollTo)).toEqual(['after', 'before after', 'before']);
});
