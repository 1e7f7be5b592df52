"""What every service process needs around its work: settings, logs, loops, health, metrics."""
