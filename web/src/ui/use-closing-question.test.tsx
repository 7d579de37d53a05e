import {
  createBrowserHistory,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouterHistory,
  RouterProvider,
} from '@tanstack/react-router';
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { type ReactNode, useState } from 'react';
import { expect, test } from 'vitest';
import { Dialog } from './dialog.tsx';
import { Sheet } from './sheet.tsx';

const name = <input aria-label="Name" />;
const sheet = (dirty: boolean) => (
  <Sheet open onClose={() => undefined} title="Create Dataset" dirty={dirty}>
    {name}
  </Sheet>
);
const dialog = (dirty: boolean) => (
  <Dialog open onOpenChange={() => undefined} title="Edit" dirty={dirty}>
    {name}
  </Dialog>
);

/** An app with two shells: the first has two pages and a sheet above both, the second has documentation. */
async function open({
  history = createMemoryHistory({ initialEntries: ['/model'] }),
  page,
  shell,
}: {
  history?: RouterHistory;
  page?: ReactNode;
  shell?: ReactNode;
}) {
  const root = createRootRoute();
  const app = createRoute({
    getParentRoute: () => root,
    id: 'app',
    component: () => (
      <>
        {shell}
        <Outlet />
      </>
    ),
  });
  const visitors = createRoute({ getParentRoute: () => root, id: 'public' });
  const routeTree = root.addChildren([
    app.addChildren([
      createRoute({ getParentRoute: () => app, path: '/model', component: () => page }),
      createRoute({ getParentRoute: () => app, path: '/buy-bagels' }),
    ]),
    visitors.addChildren([createRoute({ getParentRoute: () => visitors, path: '/docs' })]),
  ]);
  const router = createRouter({ routeTree, history });
  render(<RouterProvider router={router as never} />);
  await screen.findByLabelText('Name');
  return {
    go: (href: string) => void router.navigate({ href }),
    at: () => router.history.location.href,
  };
}

test('asks before leaving a page whose dialog has unsaved input', async () => {
  const { go, at } = await open({ page: dialog(true) });
  go('/buy-bagels');
  await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }));
  await waitFor(() => expect(at()).toBe('/model'));
  expect(screen.getByLabelText('Name')).toBeTruthy();
  go('/buy-bagels');
  await userEvent.click(await screen.findByRole('button', { name: 'Discard' }));
  await waitFor(() => expect(at()).toBe('/buy-bagels'));
  expect(screen.queryByLabelText('Name')).toBeNull();
});

test('asks before leaving a page that shows a one-time secret', async () => {
  const { go, at } = await open({
    page: (
      <Dialog open onOpenChange={() => undefined} title="Copy the new key now" keepOpen>
        {name}
      </Dialog>
    ),
  });
  go('/buy-bagels');
  await screen.findByRole('alertdialog', { name: 'Leave without copying?' });
  await userEvent.click(screen.getByRole('button', { name: 'Leave' }));
  await waitFor(() => expect(at()).toBe('/buy-bagels'));
});

test('stops asking and stays on the page if the dialog closes in the meantime', async () => {
  let save = () => {};
  function Saving() {
    const [isSaved, setSaved] = useState(false);
    save = () => setSaved(true);
    return isSaved ? <p>Saved</p> : dialog(true);
  }
  const { go, at } = await open({ page: <Saving /> });
  go('/buy-bagels');
  await screen.findByRole('alertdialog');
  act(save);
  expect(await screen.findByText('Saved')).toBeTruthy();
  await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  expect(at()).toBe('/model');
  go('/buy-bagels');
  await waitFor(() => expect(at()).toBe('/buy-bagels'));
});

test('a closed dialog does not ask', async () => {
  const { go, at } = await open({
    page: (
      <>
        {name}
        <Dialog open={false} onOpenChange={() => undefined} title="Copy the new key now" keepOpen />
      </>
    ),
  });
  go('/buy-bagels');
  await waitFor(() => expect(at()).toBe('/buy-bagels'));
});

test("does not ask if nothing was typed or only the page's search params change", async () => {
  const typed = await open({ page: dialog(true) });
  typed.go('/model?sheet=create-model');
  await waitFor(() => expect(typed.at()).toBe('/model?sheet=create-model'));
  cleanup();
  const untouched = await open({ page: dialog(false) });
  untouched.go('/buy-bagels');
  await waitFor(() => expect(untouched.at()).toBe('/buy-bagels'));
});

test('a sheet keeps its input on every page of its shell and asks before the shell is left', async () => {
  const { go, at } = await open({ shell: sheet(true) });
  go('/buy-bagels');
  await waitFor(() => expect(at()).toBe('/buy-bagels'));
  expect(screen.getByLabelText('Name')).toBeTruthy();
  go('/docs');
  await userEvent.click(await screen.findByRole('button', { name: 'Discard' }));
  await waitFor(() => expect(at()).toBe('/docs'));
});

test('the browser asks before a reload that would lose input', async () => {
  const isAskedAt = async (shell: ReactNode) => {
    window.history.replaceState(null, '', '/model');
    const history = createBrowserHistory();
    await open({ history, shell });
    const reload = new Event('beforeunload', { cancelable: true });
    dispatchEvent(reload);
    history.destroy();
    cleanup();
    return reload.defaultPrevented;
  };
  expect(await isAskedAt(sheet(false))).toBe(false);
  expect(await isAskedAt(sheet(true))).toBe(true);
});
