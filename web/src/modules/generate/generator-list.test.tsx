import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { GeneratorList } from './generator-list.tsx';

type Served = Parameters<typeof GeneratorList>[0]['served'];

/** Returns the names of the links, with the legend of marked ones. */
async function listOf(served: Served): Promise<string[]> {
  const component = () => <GeneratorList served={served} />;
  const router = createRouter({ routeTree: createRootRoute({ component }), history: createMemoryHistory() });
  const { unmount } = render(<RouterProvider router={router} />);
  const links = (await screen.findAllByRole('link')).map((link) => {
    const legend = link.getAttribute('aria-describedby');
    const said = legend === null ? undefined : document.getElementById(legend)?.textContent;
    return [link.textContent, said].filter(Boolean).join(' | ');
  });
  unmount();
  return links;
}

it('lists connected generators first and marks the others', async () => {
  const served = { paris: { served_by: ['own'] }, veo: { served_by: ['upstream'] } } as unknown as Served;
  const links = await listOf(served);
  expect(links[0]).toBe('Paris · starter');
  expect(links[1]).toBe('FLUX.1 | Dashed: not connected to this server yet.');
  expect(links.filter((link) => !link.includes('not connected'))).toEqual(['Paris · starter', 'Veo 3']);
});

it('marks generators that a starter model replaces', async () => {
  const served = { paris: { served_by: ['own'] }, flux: { served_by: ['own'] } } as unknown as Served;
  const links = await listOf(served);
  expect(links.slice(0, 2)).toEqual([
    'Paris · starter',
    'FLUX.1 | Dashed: not connected. A starter model is used instead.',
  ]);
});

it('a generator in preparation is not shown as not connected', async () => {
  const served = { paris: { served_by: [], is_being_prepared: true } } as unknown as Served;
  expect(await listOf(served)).toContain(
    'Paris, being prepared | Dashed: not connected yet, or still being prepared.',
  );
});

it('marks none while this is unknown', async () => {
  expect((await listOf(undefined))[0]).toBe('FLUX.1');
});

it('shows generators that are not connected on demand if others work', async () => {
  const served = { paris: { served_by: ['own'] }, veo: { served_by: ['upstream'] } } as unknown as Served;
  const component = () => <GeneratorList served={served} without="paris" folds />;
  const router = createRouter({ routeTree: createRootRoute({ component }), history: createMemoryHistory() });
  render(<RouterProvider router={router} />);
  expect((await screen.findAllByRole('link')).map((link) => link.textContent)).toEqual(['Veo 3']);
  await userEvent.click(screen.getByRole('button', { name: 'Show those not connected' }));
  expect(screen.getByRole('link', { name: 'FLUX.1' })).toBeTruthy();
});
