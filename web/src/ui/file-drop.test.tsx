import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { FileDrop } from './file-drop.tsx';
import { notify } from './notify.ts';

vi.mock('./notify.ts', () => ({ notify: { failure: vi.fn<typeof notify.failure>() } }));

function file(name: string, size: number): File {
  return Object.defineProperty(new File(['x'], name), 'size', { value: size });
}

test('files over 500 MB are refused by name, the others are taken', async () => {
  const onFiles = vi.fn<(files: File[]) => void>();
  render(<FileDrop onFiles={onFiles} hint="csv" />);
  const [fits, tooLarge] = [
    file('fits.csv', FILE_SIZE_LIMIT_BYTES),
    file('large.csv', FILE_SIZE_LIMIT_BYTES + 1),
  ];
  await userEvent.upload(screen.getByLabelText('Choose files'), [fits, tooLarge]);
  expect(onFiles).toHaveBeenCalledExactlyOnceWith([fits]);
  expect(notify.failure).toHaveBeenCalledExactlyOnceWith('File size exceeds 500MB limit', {
    description: 'large.csv',
  });
});
