import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { pricesQuery } from '../../credits/api.ts';
import { PicturePrice } from './picture-price.tsx';

test('what a picture costs beside the hours is said, as it is charged', () => {
  const client = new QueryClient();
  client.setQueryData(pricesQuery.queryKey, {
    prices: [{ id: 'edits', label: '', unit: 'thousand_steps', unit_price: '25', next: null }],
  });
  const { container } = render(
    <QueryClientProvider client={client}>
      Paid by the hour
      <PicturePrice />.
    </QueryClientProvider>,
  );
  expect(container.textContent).toBe('Paid by the hour, and $0.03 for each picture of 28 steps.');
  expect(screen.getByTitle('0.7 BGL')).toBeTruthy();
});
