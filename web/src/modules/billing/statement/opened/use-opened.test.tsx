import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { type Opened, useOpened } from './use-opened.ts';

afterEach(cleanup);

function Row({ opened }: { opened: Opened }) {
  return (
    <button type="button" aria-expanded={opened.has('one')} onClick={() => opened.toggle('one')}>
      Charges
    </button>
  );
}

function List({ inSight }: { inSight: boolean }) {
  const opened = useOpened();
  return inSight && <Row opened={opened} />;
}

test('a row that was opened and scrolled out of view is still open, and can be closed', () => {
  const { rerender } = render(<List inSight />);
  fireEvent.click(screen.getByRole('button', { expanded: false }));
  rerender(<List inSight={false} />);
  rerender(<List inSight />);
  fireEvent.click(screen.getByRole('button', { expanded: true }));
  expect(screen.getByRole('button', { expanded: false })).toBeDefined();
});
