import { renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useRunArea } from './run-area.ts';
import { runQuery } from './run-queries.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => {}) }));

test.each([
  ['/runs/p1', '/diffusion-training'],
  ['/runs/t1', '/llm-training'],
  ['/runs/unknown', '/runs/unknown'],
  ['/dashboard', '/dashboard'],
])('the page %s belongs to %s', (pathname, area) => {
  queryClient.setQueryData(runQuery('p1').queryKey, { kind: 'pictures' } as never);
  queryClient.setQueryData(runQuery('t1').queryKey, { kind: 'text' } as never);
  const { result } = renderHook(() => useRunArea(pathname));
  expect(result.current).toBe(area);
});
