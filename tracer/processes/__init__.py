"""How our processes are started, spoken to in lines of JSON, and ended. What they do stands with each."""
