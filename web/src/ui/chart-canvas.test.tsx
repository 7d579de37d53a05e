import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import ChartCanvas from './chart-canvas.tsx';

vi.mock('uplot', () => ({
  default: class {
    setData() {}
    setSize() {}
    destroy() {}
  },
}));
vi.mock('./chart-plot.ts', async (original) => ({
  ...(await original<typeof import('./chart-plot.ts')>()),
  plotOptions: () => ({}),
}));

test('lines of one name each have their entry in the legend', () => {
  const complain = vi.spyOn(console, 'error');
  render(
    <ChartCanvas
      label="Loss"
      x={[1]}
      series={[
        { label: 'Rye', values: [2] },
        { label: 'Rye', values: [1] },
      ]}
    />,
  );
  expect(screen.getAllByText('Rye')).toHaveLength(2);
  expect(complain).not.toHaveBeenCalled();
});
