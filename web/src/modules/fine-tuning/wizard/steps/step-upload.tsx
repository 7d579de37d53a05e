import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { Field } from '../../../../ui/field.tsx';
import { notify } from '../../../../ui/notify.ts';
import { AssetFileDrop } from '../../../datasets/files/asset-file-drop.tsx';
import { addFiles, ChosenFiles } from '../../../datasets/files/chosen-files.tsx';
import { ModelFilesHelp } from '../../../datasets/files/model-files-help.tsx';
import { UploadList } from '../../../datasets/files/uploads/upload-list.tsx';
import { readBaseModelType } from '../suggest.ts';
import type { Wizard } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'uploads' | 'dispatch'> };

/** Accepted model files. */
export const MODEL_FILES_HINT = 'safetensors or GGUF, tokenizer.json, config.json';

export function StepUpload({ wizard: { state, problems, uploads, dispatch } }: Props) {
  const { files } = state;
  const onChange = (chosen: ChosenFile[]) => dispatch({ do: 'change', values: { files: chosen } });
  // Uploading, once the model is being created.
  if (uploads.length > 0) return <UploadList uploads={uploads} />;
  const add = (more: ChosenFile[]) => {
    onChange(addFiles(files, more));
    void readBaseModelType(more).then((type) => {
      if (!type || type === state.baseModelType) return;
      dispatch({ do: 'change', values: { baseModelType: type } });
      notify.info(`Base model type set to ${type} from config.json`);
    });
  };
  return (
    <Field label="Files" error={problems.files}>
      <AssetFileDrop hint={MODEL_FILES_HINT} help={<ModelFilesHelp />} onFiles={add} />
      <ChosenFiles files={files} onChange={onChange} />
    </Field>
  );
}
