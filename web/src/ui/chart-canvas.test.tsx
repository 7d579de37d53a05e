import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import ChartCanvas from './chart-canvas.tsx';

/** A plot of the places 10, 20 and 30, which says where its cursor is. */
vi.mock('uplot', () => ({
  default: class {
    onHover: (hover: { index: number; left: number } | null) => void;
    constructor({ onHover }: { onHover: () => void }) {
      this.onHover = onHover;
    }
    setData() {}
    setSize() {}
    destroy() {}
    valToPos = (value: number) => value;
    setCursor = ({ left }: { left: number }) =>
      this.onHover(left < 0 ? null : { index: left / 10 - 1, left: 0.5 });
  },
}));
vi.mock('./chart-plot.ts', async (original) => ({
  ...(await original<typeof import('./chart-plot.ts')>()),
  plotOptions: (_props: object, _width: number, callbacks: object) => callbacks,
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

test('the arrow keys go from value to value, which are shown and read out', async () => {
  render(<ChartCanvas label="Loss" x={[10, 20, 30]} series={[{ label: 'Rye', values: [3, 2.5, null] }]} />);
  const chart = screen.getByRole('slider', { name: 'Loss, values' });
  const said = () => chart.getAttribute('aria-valuetext');
  expect(said()).toBe('30: Rye –');
  await userEvent.tab();
  expect(document.activeElement).toBe(chart);
  await userEvent.keyboard('{ArrowLeft}');
  expect(said()).toBe('30: Rye –');
  await userEvent.keyboard('{ArrowLeft}');
  expect(said()).toBe('20: Rye 2.5');
  expect(screen.getByText('2.5')).toBeTruthy();
  await userEvent.keyboard('{Home}{ArrowLeft}');
  expect([said(), chart.getAttribute('aria-valuenow')]).toEqual(['10: Rye 3', '0']);
  await userEvent.keyboard('{End}');
  expect(said()).toBe('30: Rye –');
  await userEvent.tab();
  expect(screen.queryByText('–')).toBeNull();
});

test('a chart without values is no stop for the keyboard', () => {
  render(<ChartCanvas label="Loss" x={[]} series={[{ label: 'Rye', values: [] }]} />);
  expect(screen.queryByRole('slider')).toBeNull();
});
