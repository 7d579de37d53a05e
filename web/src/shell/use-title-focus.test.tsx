import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { Sheet } from '../ui/sheet.tsx';
import { useTitleFocus } from './use-title-focus.ts';

/** Completes loading the page. */
let load: () => void;

function SlowPage() {
  const [isHere, setHere] = useState(false);
  load = () => setHere(true);
  return isHere ? <h1>Slow</h1> : <p>Loading</p>;
}

/** A menu whose first link closes it; the others don't. */
function App() {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  useTitleFocus();
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Menu
      </button>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Sheet open={open} onClose={close} title="Menu" side="left">
        <Link to="/dataset" onClick={close}>
          Datasets, and close
        </Link>
        <Link to="/dataset">Datasets</Link>
        <Link to="/model">Models</Link>
      </Sheet>
    </>
  );
}

async function openMenu() {
  const root = createRootRoute({ component: App });
  const router = createRouter({
    routeTree: root.addChildren([
      createRoute({ getParentRoute: () => root, path: '/dashboard', component: () => <h1>Dashboard</h1> }),
      createRoute({ getParentRoute: () => root, path: '/dataset', component: () => <h1>My Datasets</h1> }),
      createRoute({ getParentRoute: () => root, path: '/model', component: SlowPage }),
    ]),
    history: createMemoryHistory({ initialEntries: ['/dashboard'] }),
  });
  render(<RouterProvider router={router as never} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Menu' }));
  await screen.findByRole('link', { name: 'Models' });
}

const press = (name: string) => userEvent.click(screen.getByRole('link', { name }));
const focused = () => document.activeElement?.textContent;

test('a link that closes the menu focuses the title of its page', async () => {
  await openMenu();
  await press('Datasets, and close');
  await waitFor(() => expect(focused()).toBe('My Datasets'));
  // The menu doesn't take the focus back after its closing animation.
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await waitFor(() => expect(focused()).toBe('My Datasets'));
});

test('closing the menu on another page focuses its title', async () => {
  await openMenu();
  await press('Datasets');
  await screen.findByText('My Datasets');
  expect(document.activeElement?.closest('[role=dialog]')).toBeTruthy();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(focused()).toBe('My Datasets'));
});

test('waits for the title of a page that is still loading', async () => {
  await openMenu();
  await press('Models');
  await screen.findByText('Loading');
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(document.activeElement).toBe(document.getElementById('main')));
  act(() => load());
  await waitFor(() => expect(focused()).toBe('Slow'));
});

test('closing the menu on its original page restores the focus', async () => {
  await openMenu();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(focused()).toBe('Menu'));
});
