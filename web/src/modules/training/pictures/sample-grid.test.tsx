import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { useRunSamples } from './picture-calls.ts';
import { SampleGrid } from './sample-grid.tsx';

vi.mock('./picture-calls.ts', () => ({ useRunSamples: vi.fn<typeof useRunSamples>() }));

const drawn = (step: number) => ({
  step,
  pictures: [{ url: `/files/${step}.png`, width: 128, height: 128 }],
});
const show = (steps: number[]) =>
  vi.mocked(useRunSamples).mockReturnValue({
    data: { prompts: [{ prompt: 'a cat', seed: 7 }], checkpoints: steps.map(drawn) },
    isError: false,
  } as never);
const sources = () => screen.getAllByRole('img').map((image) => image.getAttribute('src'));

test('the newest checkpoint is shown beside the base model, and one steps and drags through time', async () => {
  show([0, 100, 200]);
  const { rerender } = render(<SampleGrid runId="r1" />);
  expect(sources()).toEqual(['/files/0.png', '/files/200.png']);
  expect(screen.getByText('seed 7')).toBeTruthy();
  show([0, 100, 200, 300]);
  rerender(<SampleGrid runId="r1" />);
  expect(sources()).toEqual(['/files/0.png', '/files/300.png']);

  await userEvent.click(screen.getByRole('button', { name: 'Earlier checkpoint' }));
  expect(screen.getByRole('img', { name: 'a cat, step 200' })).toBeTruthy();
  const slider = screen.getByRole('slider', { name: 'Checkpoint' });
  fireEvent.change(slider, { target: { value: '0' } });
  expect(slider.getAttribute('aria-valuetext')).toBe('Before training');
  // One that is chosen stays while others come.
  show([0, 100, 200, 300, 400]);
  rerender(<SampleGrid runId="r1" />);
  expect(sources()).toEqual(['/files/0.png', '/files/0.png']);
});
