import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useReducer } from 'react';
import { expect, test, vi } from 'vitest';
import { notify } from '../../../../ui/notify.ts';
import { initialState } from '../wizard-state.ts';
import { wizardReducer } from '../wizard-steps.tsx';
import { StepUpload } from './step-upload.tsx';

vi.mock('../../../datasets/files/asset-file-drop.tsx', async () => ({
  AssetFileDrop: (await import('../../../../ui/file-drop.tsx')).FileDrop,
}));
vi.mock('../../../datasets/files/model-files-help.tsx', () => ({ ModelFilesHelp: () => null }));
vi.mock('../../../datasets/files/uploads/upload-list.tsx', () => ({ UploadList: () => null }));

function Step() {
  const [state, dispatch] = useReducer(wizardReducer, { ...initialState, type: 'upload', step: 'files' });
  return (
    <>
      <p>Type: {state.baseModelType}</p>
      <StepUpload wizard={{ state, problems: {}, uploads: [], dispatch }} />
    </>
  );
}

const inFolder = (path: string) =>
  Object.defineProperty(new File(['{}'], path.slice(path.lastIndexOf('/') + 1)), 'webkitRelativePath', {
    value: path,
  });

test('files with the same name in different folders are listed by path, and each can be removed', async () => {
  render(<Step />);
  const folder = ['FLUX/transformer/config.json', 'FLUX/vae/config.json'].map(inFolder);
  await userEvent.upload(screen.getByLabelText('Choose folder'), folder);
  // Choosing it again replaces it.
  await userEvent.upload(screen.getByLabelText('Choose folder'), folder);
  await userEvent.upload(screen.getByLabelText('Choose files'), new File(['{}'], 'config.json'));
  const rows = () => screen.getAllByRole('listitem').map((row) => row.querySelector('span')?.textContent);
  expect(rows()).toEqual(['transformer/config.json', 'vae/config.json', 'config.json']);
  await userEvent.click(screen.getByRole('button', { name: 'Remove vae/config.json' }));
  expect(rows()).toEqual(['transformer/config.json', 'config.json']);
});

test("a model's config.json sets its base model type", async () => {
  const said = vi.spyOn(notify, 'info').mockReturnValue(undefined);
  render(<Step />);
  const config = new File(['{"model_type":"qwen3"}'], 'config.json');
  await userEvent.upload(screen.getByLabelText('Choose files'), [config]);
  await screen.findByText('Type: qwen');
  expect(said).toHaveBeenCalledExactlyOnceWith('Base model type set to qwen from config.json');
});
