import type { User } from '@bakehouse/contract/accounts';
import { fireEvent, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { CreateMenu } from './create-menu.tsx';
import { UserMenu } from './user-menu.tsx';

vi.mock('../../modules/documentation/help-links.ts', () => ({
  useHelpLinks: () => ({ documentation: null, github: 'https://github.com/example/bakehouse' }),
}));
const goTo = vi.fn<(item: { label: string }) => void>();
vi.mock('../navigation/use-go-to-item.ts', () => ({ useGoToItem: () => goTo }));
vi.mock('../all-sheets.ts', () => ({ preloadSheets: () => undefined }));
vi.mock('../../ui/menu.tsx', async (original) => ({
  ...(await original<typeof import('../../ui/menu.tsx')>()),
  MenuLink: ({ to, children }: { to: string; children: ReactNode }) => (
    <a role="menuitem" href={to}>
      {children}
    </a>
  ),
}));

const items = async () => (await screen.findAllByRole('menuitem')).map((item) => item.textContent);

test('the user menu lists its items in the specified order', async () => {
  render(<UserMenu user={{ id: 'u1', username: 'ada', email: 'ada@example.com' } as User} />);
  fireEvent.click(screen.getByRole('button', { name: /ada$/ }));
  expect(await items()).toEqual([
    'Profile',
    'My Datasets',
    'My Models',
    'API-Key',
    'Documentation',
    'GitHub(opens in a new tab)',
    'Sign Out',
  ]);
});

test('the Create menu opens sheets for a dataset and a model, and pages for a picture, a video and a question', async () => {
  render(<CreateMenu />);
  fireEvent.click(screen.getByRole('button', { name: 'Create' }));
  expect(await items()).toEqual([
    'Create Dataset',
    'Create Model',
    'Generate a picture',
    'Generate a video',
    'Ask a question',
  ]);
  fireEvent.click(screen.getByRole('menuitem', { name: 'Create Model' }));
  expect(goTo.mock.calls[0]?.[0]).toMatchObject({ sheet: 'create-model' });
});
