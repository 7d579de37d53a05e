import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { pricesQuery } from '../billing/credit-queries.ts';
import { OutputPrice } from './output-price.tsx';

test('shows the price of a picture or video in addition to the hours, as charged', () => {
  const client = new QueryClient();
  client.setQueryData(pricesQuery.queryKey, {
    prices: [
      { id: 'edits', label: '', unit: 'thousand_steps', unit_price: '25', next: null },
      { id: 'videos', label: '', unit: 'thousand_steps', unit_price: '25', next: null },
      { id: 'pictures:CPU', label: '', unit: 'thousand_expert_steps', unit_price: '6.25', next: null },
    ],
  });
  const show = (kind: ImageDeploymentKind) =>
    render(
      <QueryClientProvider client={client}>
        Paid by the hour
        <OutputPrice kind={kind} />.
      </QueryClientProvider>,
    ).container.textContent;
  expect(show('flux')).toBe('Paid by the hour, and $0.028 for each picture with 28 steps.');
  expect(screen.getByTitle('0.7 BGL')).toBeTruthy();
  expect(show('paris')).toBe('Paid by the hour, and $0.10 for each picture with 100 steps by 4 experts.');
  expect(show('wan')).toBe('Paid by the hour, and $0.03 for each video of 5 s at 720p with 30 steps.');
});
