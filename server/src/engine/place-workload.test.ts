import { expect, test } from 'vitest';
import { placeWorkload } from './place-workload.ts';

test('work goes to the GPUs that it wants where there are as many, else to the CPU', () => {
  const capacity = { NVIDIA_H100_80GB: [1, 3], NVIDIA_TESLA_V100: [0, 2] };
  const place = (count: number) => placeWorkload({ type: 'NVIDIA_H100_80GB', count }, capacity);
  expect(place(2)).toEqual({ accelerator: 'NVIDIA_H100_80GB', count: 2 });
  expect(place(4)).toEqual({ accelerator: null, count: 0 });
  expect(placeWorkload({ type: 'NVIDIA_TESLA_A100', count: 1 }, capacity)).toMatchObject({
    accelerator: null,
  });
});
