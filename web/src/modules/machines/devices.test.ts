import { expect, it } from 'vitest';
import { describeAbsence, deviceName, gpusHere } from './devices.ts';

const machineWith = (...types: string[]) => ({
  accelerators: types.map((gpu_type) => ({ gpu_type, label: gpu_type, memory_bytes: 0, count: 2 })),
});

it('names the CPU by its location', () => {
  expect(deviceName('CPU')).toBe('This machine’s CPU');
  expect(deviceName('2 x NVIDIA H100 (80GB)')).toBe('2 x NVIDIA H100 (80GB)');
});

it('maps accelerators to the product’s GPU types', () => {
  const machine = machineWith('NVIDIA_GEFORCE_RTX_4090', 'NVIDIA_H100_80GB');
  expect([...gpusHere(machine)]).toEqual([['NVIDIA_H100_80GB', 2]]);
  expect(gpusHere(machineWith()).size).toBe(0);
});

it('reports that no machine can use the V100', () => {
  expect(describeAbsence('NVIDIA_TESLA_V100')).toBe('Not with this PyTorch');
  expect(describeAbsence('NVIDIA_H100_80GB')).toBe('Not on this machine');
});
