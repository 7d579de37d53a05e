import { QueryClientProvider, type QueryKey } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import { assetListQuery } from '../assets/asset-queries.ts';
import { balanceQuery, spendQuery } from '../credits/credit-queries.ts';
import { deploymentListQuery, newestDeploymentsQuery } from '../deployments/deployment-lists.ts';
import { recentGenerationsQuery } from '../generations/generation-queries.ts';
import { runListQuery } from '../training/runs/run-queries.ts';
import { DashboardPage } from './dashboard-page.tsx';

const nothing = { dismissed: true, held: '0', days: [] as object[] };

test.each([
  ['the first steps', { ...nothing, dismissed: false }],
  ['what is under way', { ...nothing, held: '1' }],
  ['spending', { ...nothing, days: [{ date: '2026-11-20', use: 'deployment', amount: '3' }] }],
])(
  'does not show prefetched data before the code of the card of %s, which would shift the layout',
  (_card, { dismissed, held, days }) => {
    const onePage = (page: object) => ({ pages: [page], pageParams: [null] });
    const readAhead: [{ queryKey: QueryKey }, object][] = [
      [balanceQuery('ada'), { available: '5', held }],
      [spendQuery('ada', {}), { days }],
      [newestDeploymentsQuery('ada'), { deployments: [] }],
      [runListQuery, onePage({ runs: [] })],
      [assetListQuery('ada', { types: 'RAW' }), onePage({ datasets: [] })],
      [assetListQuery('ada', { types: 'MODEL' }), onePage({ datasets: [] })],
      [recentGenerationsQuery('ada'), onePage({ generations: [] })],
      [deploymentListQuery('text', 'ada', { status: 'all' }), onePage({ deployments: [] })],
    ];
    for (const [{ queryKey }, data] of readAhead) queryClient.setQueryData(queryKey, data);
    const onboarding = { onboarding_completed: false, dismissed };
    render(
      <QueryClientProvider client={queryClient}>
        <UserContext value={{ id: 'ada', onboarding } as never}>
          <DashboardPage />
        </UserContext>
      </QueryClientProvider>,
    );
    expect(screen.getByRole('status', { name: /^Loading/ })).toBeTruthy();
  },
);
