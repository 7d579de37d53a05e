import { fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactNode } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { useCheckpointModel, useRunSamples } from './picture-calls.ts';
import { SampleGrid } from './sample-grid.tsx';

vi.mock('./picture-calls.ts', () => ({
  useRunSamples: vi.fn<typeof useRunSamples>(),
  useCheckpointModel: vi.fn<typeof useCheckpointModel>(),
}));
const navigate = vi.fn();
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useNavigate: () => navigate,
  createLink:
    () =>
    ({ search, children }: { search: object; children: ReactNode }) => (
      <a href={JSON.stringify(search)}>{children}</a>
    ),
}));

const drawn = (step: number) => ({
  step,
  pictures: [{ url: `/files/${step}.png`, width: 128, height: 128 }],
  is_kept: step >= 200,
  model_id: step === 300 ? 'm300' : null,
});
const mutate = vi.fn();
beforeEach(() => {
  vi.mocked(useCheckpointModel).mockReturnValue({ mutate, isPending: false } as never);
});
const show = (steps: number[]) =>
  vi.mocked(useRunSamples).mockReturnValue({
    data: { prompts: [{ prompt: 'a cat', seed: 7 }], checkpoints: steps.map(drawn) },
    isError: false,
  } as never);
const sources = () => screen.getAllByRole('img').map((image) => image.getAttribute('src'));

test('shows the newest checkpoint next to the base model, with a time slider for keys and pointer', async () => {
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
  // A chosen checkpoint stays selected while new ones arrive.
  show([0, 100, 200, 300, 400]);
  rerender(<SampleGrid runId="r1" />);
  expect(sources()).toEqual(['/files/0.png', '/files/0.png']);
});

test('opens a checkpoint as a model, creating the model if needed, unless the checkpoint was deleted', async () => {
  show([0, 100, 200, 300]);
  render(<SampleGrid runId="r1" />);
  const use = { name: 'Use this checkpoint' };
  const settings = (lora: string) => ({ settings: { lora, lora_scale: 1 } });
  expect(screen.getByRole('link', use).getAttribute('href')).toBe(JSON.stringify(settings('m300')));

  const slider = screen.getByRole('slider', { name: 'Checkpoint' });
  fireEvent.change(slider, { target: { value: '2' } });
  await userEvent.click(screen.getByRole('button', use));
  expect(useCheckpointModel).toHaveBeenLastCalledWith('r1');
  expect(mutate.mock.lastCall?.[0]).toBe(200);
  mutate.mock.lastCall?.[1].onSuccess({ model_id: 'm200' });
  expect(navigate).toHaveBeenCalledWith({ to: '/flux-kontext', search: settings('m200') });

  fireEvent.change(slider, { target: { value: '1' } });
  expect(screen.queryByRole('button', use)).toBeNull();
  expect(screen.getByText(/^Deleted\./)).toBeTruthy();
  fireEvent.change(slider, { target: { value: '0' } });
  expect(screen.queryByText(/^Deleted\./)).toBeNull();
});
