-- A name that is asked for comes composed, as keyboards write it; those of Korean titles were kept in parts.
update deployments set model_name = normalize(model_name, NFKC)
  where terminated_at is null and model_name is not NFKC normalized;
