import { act, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { currencyChoice } from '../../../../lib/format/currency.ts';
import { gpusHere } from '../../../machines/devices.ts';
import { RecommendedGpus } from './recommended-gpus.tsx';

vi.mock('../../../machines/machine-queries.ts', () => ({ useMachine: vi.fn(() => ({ data: {} })) }));
vi.mock('../../../machines/devices.ts', () => ({
  gpusHere: vi.fn(() => new Set(['NVIDIA_TESLA_V100'])),
}));

afterEach(() => currencyChoice.set('USD'));

test('each GPU shows its price in the display currency, however small', () => {
  render(
    <RecommendedGpus
      recommended={[
        { gpu_type: 'NVIDIA_TESLA_V100', description: 'V100: needs 1.9 GB, about 3 s', cost: '0.02' },
        { gpu_type: 'NVIDIA_H100_80GB', description: 'H100: needs 1.9 GB, about 1 s', cost: '0.05' },
      ]}
    />,
  );
  const lines = () => screen.getAllByRole('listitem').map((item) => item.textContent);
  expect(lines()).toEqual([
    'V100: needs 1.9 GB, about 3 s, $0.00080',
    'H100: needs 1.9 GB, about 1 s, $0.0020; not on this machine',
  ]);
  act(() => currencyChoice.set('BGL'));
  expect(lines()[0]).toBe('V100: needs 1.9 GB, about 3 s, 0.02 BGL');
});

test('a machine without a GPU shows the prices of others', () => {
  vi.mocked(gpusHere).mockReturnValue(new Map());
  render(
    <RecommendedGpus
      recommended={[{ gpu_type: 'NVIDIA_TESLA_V100', description: 'V100: about 3 s', cost: '0.02' }]}
    />,
  );
  expect(screen.getByRole('listitem').textContent).toBe('V100: about 3 s, $0.00080; not on this machine');
});
