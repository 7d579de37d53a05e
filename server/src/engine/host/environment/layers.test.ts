import { expect, it } from 'vitest';
import { bytesNeeded, explainFullDisk, splitTorch } from './layers.ts';

it('explains in one sentence that the disk is too full', () => {
  expect(explainFullDisk('training', '/cache', 6e9, 6e9)).toBeNull();
  expect(explainFullDisk('training', '/cache', 2.13e9, 6e9)).toBe(
    'The Python packages for training need 6.0 GB in /cache, where 2.1 GB are free. ' +
      'Free some space, or set BAKEHOUSE_CACHE_DIR to another folder.',
  );
  expect(explainFullDisk('vllm', '/cache', 2.13e9, 9e9)).toMatch(/^The Python packages for vLLM need 9.0 GB/);
});

it('needs less without the CUDA libraries', () => {
  const linux = { platform: 'linux', torchIndex: undefined } as const;
  const [cuda, cpu, mac] = [
    bytesNeeded('training', linux),
    bytesNeeded('training', { ...linux, torchIndex: 'https://index.example/cpu' }),
    bytesNeeded('training', { ...linux, platform: 'darwin' }),
  ];
  expect(cuda).toBeGreaterThan(cpu);
  expect(mac).toBe(cpu);
  expect(bytesNeeded('serving', linux)).toBeLessThan(cpu);
});

it('removes torch and its CUDA-only dependencies from a lock file', () => {
  const lock = [
    'sympy==1.14.0 \\',
    '    --hash=sha256:aa',
    'nvidia-cudnn-cu13==9.26.0.51 ; (platform_machine == "x86_64") \\',
    '    --hash=sha256:bb \\',
    '    --hash=sha256:cc',
    'torch==2.15.0 \\',
    '    --hash=sha256:dd',
    'torchvision-free==1.0 \\',
    '    --hash=sha256:ee',
    '',
  ].join('\n');
  expect(splitTorch(lock)).toEqual({
    torch: 'torch==2.15.0',
    rest: 'sympy==1.14.0 \\\n    --hash=sha256:aa\ntorchvision-free==1.0 \\\n    --hash=sha256:ee\n',
  });
});
