import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { assetQuery } from '../../../datasets/asset-queries.ts';
import { selectedDataFile } from '../../../datasets/files/selected-data-file.ts';
import { detectedFormat } from '../../parameters/format-fields.tsx';
import { parameterProblems } from '../../parameters/parameter-problems.ts';
import { presetOf, presetValues } from '../../parameters/suggested-parameters.ts';
import { isTextFile } from '../../parameters/training-parameters.ts';
import { useBasis } from '../../parameters/use-basis.ts';
import { useFirstRows } from '../../parameters/use-first-rows.ts';
import type { Suggestion, Wizard } from '../wizard-state.ts';

/** Appended to the dataset's name. */
const SUFFIX = ' model';

/** Fills in the dataset's suggestions, and requests an estimate once all fields are set. */
export function useQuickChoice({
  state,
  wantedFile,
  dispatch,
  checkChoice,
}: Pick<Wizard, 'state' | 'wantedFile' | 'dispatch' | 'checkChoice'>) {
  const { baseModelId, datasetId, fileName, parameters } = state;
  const dataset = useQuery({ ...assetQuery(datasetId ?? ''), enabled: datasetId !== null });
  const rows = useFirstRows(state);
  const basis = useBasis(state);

  const suggest = useEffectEvent((values: Suggestion) => dispatch({ do: 'suggest', values }));
  const title = dataset.data?.title;
  const file = dataset.data && selectedDataFile(dataset.data, wantedFile);
  useEffect(() => {
    if (title) suggest({ name: title.slice(0, NAME_LENGTH_MAX - SUFFIX.length).trimEnd() + SUFFIX });
  }, [title]);
  useEffect(() => {
    if (file) suggest({ fileName: file });
  }, [file]);
  useEffect(() => {
    if (rows.data) suggest(detectedFormat(rows.data));
  }, [rows.data]);

  const applyPreset = useEffectEvent(() => {
    const values = presetValues('suggested', basis, parameters.objective, parameters.adaptation);
    if (values) dispatch({ do: 'parameters', values });
  });
  useEffect(
    () => applyPreset(),
    [basis?.rows, basis?.baseBytes, parameters.objective, parameters.adaptation],
  );

  const isComplete =
    baseModelId !== null &&
    fileName !== null &&
    presetOf(parameters, basis) === 'suggested' &&
    Object.keys(parameterProblems(parameters, fileName)).length === 0;
  const asked = isComplete ? JSON.stringify([baseModelId, datasetId, fileName, parameters]) : null;
  const check = useEffectEvent(() => checkChoice());
  useEffect(() => {
    if (asked !== null) check();
  }, [asked]);

  return {
    dataset: dataset.data,
    error: dataset.error ?? rows.error,
    isComplete,
    /** The user must choose the columns. */
    isUnrecognized: rows.data?.format === null && fileName !== null && !isTextFile(fileName),
    formatProblem: rows.data?.format_problem ?? null,
  };
}
