import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import ChartCanvas from './chart-canvas.tsx';

/**
 * Fake plot with points at 10, 20, 30, …. Reports its cursor position; new data moves the cursor to the end.
 */
vi.mock('uplot', () => ({
  default: class {
    onHover: (hover: { index: number; left: number } | null) => void;
    hasCursor = false;
    constructor({ onHover }: { onHover: () => void }) {
      this.onHover = onHover;
    }
    setData([x]: [number[]]) {
      if (this.hasCursor) this.setCursor({ left: x.length * 10 });
    }
    batch = (work: () => void) => work();
    setSize() {}
    destroy() {}
    valToPos = (value: number) => value;
    setCursor = ({ left }: { left: number }) => {
      this.hasCursor = left >= 0;
      this.onHover(left < 0 ? null : { index: left / 10 - 1, left: 0.5 });
    };
  },
}));
vi.mock('./chart-plot.ts', async (original) => ({
  ...(await original<typeof import('./chart-plot.ts')>()),
  plotOptions: (_props: object, _width: number, callbacks: object) => callbacks,
}));

test('lines with the same name each have a legend entry', () => {
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

const chart = () => screen.getByRole('application', { name: 'Loss, values' });
const said = () => screen.getByRole('status').textContent;

/** A loss chart with points at 10, 20, …. */
function loss(...values: (number | null)[]) {
  const x = values.map((_, index) => 10 * (index + 1));
  return <ChartCanvas label="Loss" x={x} series={[{ label: 'Rye', values }]} />;
}

test('arrow keys step through the values, showing and announcing each', async () => {
  render(loss(3, 2.5, null));
  await userEvent.tab();
  expect(document.activeElement).toBe(chart());
  expect(said()).toBe('30: Rye –');
  expect(screen.getByText('–')).toBeTruthy();
  await userEvent.keyboard('{ArrowLeft}');
  expect(said()).toBe('20: Rye 2.5');
  expect(screen.getByText('2.5')).toBeTruthy();
  await userEvent.keyboard('{Home}{ArrowLeft}');
  expect(said()).toBe('10: Rye 3');
  await userEvent.keyboard('{ArrowUp}');
  expect(said()).toBe('20: Rye 2.5');
  await userEvent.keyboard('{ArrowDown}');
  expect(said()).toBe('10: Rye 3');
  await userEvent.keyboard('{End}{ArrowRight}');
  expect(said()).toBe('30: Rye –');
  await userEvent.tab();
  expect(screen.queryByText('–')).toBeNull();
});

test('the value selected by keyboard stays selected as new values arrive', async () => {
  const { rerender } = render(loss(3, 2));
  await userEvent.tab();
  rerender(loss(3, 2, 1));
  expect(said()).toBe('20: Rye 2');
  expect(screen.getByText('2')).toBeTruthy();
  await userEvent.keyboard('{ArrowRight}');
  expect(said()).toBe('30: Rye 1');
});

test('announces the last value if the selected value is gone', async () => {
  const { rerender } = render(loss(3, 2, 1));
  await userEvent.tab();
  rerender(loss(3, 2));
  expect(said()).toBe('20: Rye 2');
});

test('smooths the selected value with all its neighbours in a downsampled series', async () => {
  const values = Array.from({ length: 30_000 }, (_, step) => (step % 10 === 0 ? 10 : 1));
  const x = values.map((_, step) => step);
  render(<ChartCanvas label="Loss" x={x} series={[{ label: 'Rye', values }]} smoothing={0.999} />);
  await userEvent.tab();
  expect(said()).toBe('29,999: Rye 1.9');
});

test('a chart without values is not focusable', () => {
  render(<ChartCanvas label="Loss" x={[]} series={[{ label: 'Rye', values: [] }]} />);
  expect(screen.queryByRole('application')).toBeNull();
});

test('a click does not focus the chart', async () => {
  render(loss(3, 2));
  await userEvent.click(chart());
  expect(document.activeElement).toBe(document.body);
  expect(said()).toBe('');
});
