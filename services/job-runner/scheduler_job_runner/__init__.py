"""The job-runner: creates a Cloud Foundry task for each run of a job, exactly one, and follows tasks until they end."""
