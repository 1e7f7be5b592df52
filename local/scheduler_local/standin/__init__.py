"""What the stand-ins for Cloud Foundry share: serving, faults on demand, a log of requests, state in a folder."""
